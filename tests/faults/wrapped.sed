# What the linker is told of the functions that calls.c wraps.
s/^WRAPPED\([^,]*, ([A-Za-z_]+),.*/-Wl,--wrap=\1/p
s/^[A-Za-z]+ __wrap_([a-z_]+)\(.*\);$/-Wl,--wrap=\1/p
