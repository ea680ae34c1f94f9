import { hostname } from 'node:os'

/** The name of this process in its Leases, by which a person can find the process. */
export function processIdentity(): string {
  return `${hostname()}_${process.pid}`
}
