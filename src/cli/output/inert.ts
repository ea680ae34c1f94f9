export { inert, inertJson, inertJsonText } from '../../report/inert.ts'
