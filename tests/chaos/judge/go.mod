module chaos

go 1.21

require github.com/anishathalye/porcupine v1.1.0
