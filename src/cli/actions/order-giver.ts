import { hostname, userInfo } from 'node:os'

/** The giver of an order, for display. In a container the user may have no name. */
export function orderGiver(env: NodeJS.ProcessEnv): string {
  return `${env['USER'] || nameOfUser()}@${hostname()}`
}

function nameOfUser(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'somebody')
  }
}
