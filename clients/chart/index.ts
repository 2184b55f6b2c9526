export { arcsOf } from './arcs.ts'
export { chartFor, chooseChart, isTelling, kindsOf, type Chart, type ChartColumn, type ChartKind } from './choose.ts'
export { layOut, type Layout } from './lay-out.ts'
