export { formatElapsed } from '../../report/elapsed.ts'
