import { registerHooks } from 'node:module'

// Loaded with `--import`: stands for a machine on which the native module is not to be had.
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'onnxruntime-node') throw new Error('The native module does not load here.')
    return next(specifier, context)
  },
})
