import { type Check, found } from '../check.ts'

/** It answers. All other checks rest on that. */
export const apiServer: Check = {
  name: 'api-server',
  examine: ({ unreachable }) => found(unreachable === undefined ? [] : [{ code: 'api-unreachable', because: unreachable }]),
}
