import { type Check, found } from '../check.ts'

/** The API server answers. All other checks depend on it. */
export const apiServer: Check = {
  name: 'api-server',
  examine: ({ unreachable }) => found(unreachable === undefined ? [] : [{ code: 'api-unreachable', because: unreachable }]),
}
