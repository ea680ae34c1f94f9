import { hostname } from 'node:os'

/** Names this process in the Lease: a person who reads it must find the process. */
export function processIdentity(): string {
  return `${hostname()}_${process.pid}`
}
