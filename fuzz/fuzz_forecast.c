/* fuzz_forecast.c - the figures of a plan that is accepted are in order, and read back the same */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/figures.h"
#include "run/forecast.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM_BEHIND = 64 };

static void require(int holds)
{
    if (!holds)
        abort();
}

static enum nd_status parse(const void *data, size_t size, struct nd_forecast *forecast)
{
    char *text = calloc(1, size + ROOM_BEHIND);
    enum nd_status status;
    int is_other;

    require(text != NULL);
    memcpy(text, data, size);
    status =
        nd_forecast_parse("plan", (struct nd_view){text, size}, 1, 2, forecast, &is_other, NULL);
    free(text);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_forecast forecast[ND_FIGURES], again[ND_FIGURES];
    struct nd_json out = {0};

    if (parse(data, size, forecast) != ND_OK)
        return 0;
    for (int i = 0; i < ND_FIGURES; i++)
        require(isfinite(forecast[i].high) && forecast[i].low >= 0 &&
                forecast[i].low <= forecast[i].value && forecast[i].value <= forecast[i].high);
    nd_json_open(&out, '{');
    nd_json_key(&out, "figures");
    nd_figures_put(&out, forecast, NULL);
    nd_json_close(&out, '}');
    require(!out.failed);
    require(parse(out.text.data, out.text.len, again) == ND_OK);
    for (int i = 0; i < ND_FIGURES; i++)
        require(forecast[i].value == again[i].value && forecast[i].low == again[i].low &&
                forecast[i].high == again[i].high);
    nd_json_release(&out);
    return 0;
}
