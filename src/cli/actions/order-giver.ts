import { hostname, userInfo } from 'node:os'

/** Who gives an order, for the person who finds it: in a container there may be no name for the user. */
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
