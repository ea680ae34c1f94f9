import { createSecureContext } from 'node:tls'
import type { ClusterAccess } from './cluster-access.ts'
import type { TlsIdentity } from './credential.ts'
import { describeCause } from './describe-cause.ts'
import { pluginName } from './exec-plugin.ts'
import { KubeConfigError } from './kubeconfig-error.ts'

type Access = Pick<ClusterAccess, 'server' | 'user' | 'exec' | 'files' | 'context'>

/**
 * Refuses one that cannot be shown: every call would fail for it in words that name no place, and without its key the server
 * would be shown none, and say that it does not know who asks.
 */
export function checkClientCertificate(access: Access, { cert, key, passphrase }: TlsIdentity): void {
  const { server, user, exec, files, context } = access
  if (server.startsWith('http:') || cert === undefined) return
  const whose = exec === undefined ? `of user ${user.name} in ${files.join(', ')}` : `of ${pluginName(user.name, exec)}`
  const fail = (why: string, cause?: unknown): never => {
    throw new KubeConfigError(`the client certificate ${whose} cannot be used: ${why}`, { files, context, cause })
  }
  if (key === undefined) fail('there is no key (client-key) to it')
  try {
    createSecureContext({ cert, key, passphrase })
  } catch (error) {
    fail(`${describeCause(error)}; both it and its key must be PEM, and belong together`, error)
  }
}
