module sluice.dev/test/cluster/tools

go 1.24
