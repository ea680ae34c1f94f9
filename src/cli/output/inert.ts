export { inert, inertJson } from '../../report/inert.ts'
