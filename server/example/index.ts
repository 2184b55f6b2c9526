export { ensureExample, type Example } from './set-up.ts'
export { ordersUntil, products, shops } from './sample.ts'
