import type { Clock } from '../ports/clock.ts'
import type { ClusterAccess } from './cluster-access.ts'
import type { PluginCredential } from './exec-plugin.ts'
import { numberField, parseJson } from './json.ts'
import { KubeConfigError } from './kubeconfig-error.ts'

type Access = Pick<ClusterAccess, 'user' | 'files' | 'context'>

/** The token of a user with `auth-provider: oidc`. */
export function readIdToken(access: Access, clock: Clock): PluginCredential {
  const { user, files, context } = access
  const token = user['auth-provider']?.config['id-token']
  const fail = (why: string): never => {
    throw new KubeConfigError(
      `the id-token of user ${user.name} in ${files.join(', ')} ${why}, and sluice does not renew it: any kubectl command does, ` +
        'where there is a refresh-token; a credential plugin (exec) in its place is renewed by sluice too',
      { files, context },
    )
  }
  if (!token) return fail('is missing')
  const expiresAt = endOf(token)
  if (expiresAt !== undefined && expiresAt <= clock.wallNow()) return fail('has ended')
  return { token, ...(expiresAt === undefined ? {} : { expiresAt }) }
}

/** The expiry of a token. Undefined if the token has none; the server then decides. */
function endOf(token: string): number | undefined {
  const [, claims = ''] = token.split('.')
  const seconds = numberField(parseJson(Buffer.from(claims, 'base64url').toString('utf8'))?.value, 'exp')
  return seconds === undefined ? undefined : seconds * 1000
}
