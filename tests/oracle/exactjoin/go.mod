module exactjoin

go 1.19
