-- service_load.lua - what wrk sends to the service, and a line of JSON about it at the end
--
-- wrk ... -s service_load.lua URL -- FILE PATH TYPE: each line of FILE is a body; `\n` in it is a newline.

local requests, at = {}, 0

function init(args)
    wrk.headers["Content-Type"] = args[3]
    for line in io.lines(args[1]) do
        local body = args[3] == "application/x-ndjson" and line:gsub("\t", "\n") or line
        requests[#requests + 1] = wrk.format("POST", args[2], nil, body)
    end
end

function request()
    at = at % #requests + 1
    return requests[at]
end

function done(summary, latency, _)
    local errors = summary.errors
    io.write(string.format(
        '\n{"requests":%d,"seconds":%.6f,"median_ms":%.4f,"p99_ms":%.4f,"max_ms":%.4f,"errors":%d}\n',
        summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
        latency.max / 1e3, errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
