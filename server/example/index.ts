export { ordersUntil, products, shops } from './sample.ts'
