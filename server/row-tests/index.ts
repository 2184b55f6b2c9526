export { deleteTest, listTests, putTest, readTests } from './tests.ts'
export { openTestGate, runTests } from './run.ts'
