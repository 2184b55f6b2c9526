import childProcess from 'node:child_process'
import { registerHooks, syncBuiltinESMExports } from 'node:module'

// Loaded with `--import`: stands for a machine on which the native module is not to be had, here and in the processes
// that are started from here.
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'onnxruntime-node') throw new Error('The native module does not load here.')
    return next(specifier, context)
  },
})

const { spawn } = childProcess
childProcess.spawn = (command, args, options) =>
  spawn(command, command === process.execPath ? [`--import=${import.meta.url}`, ...args] : args, options)
syncBuiltinESMExports()
