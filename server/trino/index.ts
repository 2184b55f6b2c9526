export { openTrino, type Trino, type TrinoOptions } from './open-trino.ts'
export { sweepTrino } from './sweep.ts'
