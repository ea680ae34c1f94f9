import { createSecureContext } from 'node:tls'
import type { ClusterAccess } from './cluster-access.ts'
import type { TlsIdentity } from './credential.ts'
import { describeCause } from './describe-cause.ts'
import { pluginName } from './exec-plugin.ts'
import { KubeConfigError } from './kubeconfig-error.ts'

type Access = Pick<ClusterAccess, 'server' | 'user' | 'exec' | 'files' | 'context'>

/**
 * Refuses an unusable client certificate. Otherwise every call fails without naming the certificate, and without the key no certificate is
 * sent, so that the server reports an unknown user.
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
