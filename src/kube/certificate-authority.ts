import { X509Certificate } from 'node:crypto'
import type { ClusterAccess } from './cluster-access.ts'
import { describeCause } from './describe-cause.ts'
import { KubeConfigError } from './kubeconfig-error.ts'
import { readNamedFile } from './read-named-file.ts'

type Access = Pick<ClusterAccess, 'cluster' | 'server' | 'files' | 'context'>

const CODES_OF_DISTRUST = new Set([
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Refuses an invalid CA certificate. Node ignores it silently, and then reports every server as untrusted. */
export function checkAuthority(access: Access): void {
  const { cluster, server, files, context } = access
  if (server.startsWith('http:')) return
  const { caFile, caData } = authorityOf(cluster)
  const fail = (why: string, cause?: unknown): never => {
    throw new KubeConfigError(`${fieldOf(access)} ${why}`, { files, context, cause })
  }
  // kubectl refuses a CA together with insecure-skip-tls-verify as well, because the intention is not clear.
  if (cluster['insecure-skip-tls-verify'] && (caFile || caData))
    fail('is given beside insecure-skip-tls-verify: remove the one that is not meant')
  if (caFile) {
    try {
      if (!isCertificate(readNamedFile(caFile))) fail(`(${caFile}) holds no certificate: it must be PEM`)
    } catch (error) {
      if (error instanceof KubeConfigError) throw error
      fail(`cannot be read (${describeCause(error)}): mend the path, or give certificate-authority-data in its place`, error)
    }
  } else if (caData) {
    if (!isCertificate(caData)) fail('holds no certificate: it must be one in PEM, and that in base64')
  }
}

function isCertificate(content: Buffer): boolean {
  try {
    return content.includes('-----BEGIN CERTIFICATE-----') && new X509Certificate(content).raw.length > 0
  } catch {
    return false
  }
}

/** The messages for a server that is not trusted. */
export interface Trust {
  /** The reason for the distrust. */
  distrust: string
  /** How to correct it. */
  hint: string
}

export function trustOf(access: Access): Trust {
  const { cluster, server } = access
  const who = `the certificate of ${URL.parse(server)?.host ?? server} is not signed by`
  const { caFile, caData } = authorityOf(cluster)
  if (!caFile && !caData) {
    return {
      distrust: `${who} an authority that this machine trusts, and ${fieldOf(access)} names no other`,
      hint: 'give the cluster its certificate-authority-data, as whoever set it up has it, or choose another context or cluster',
    }
  }
  return {
    distrust: `${who} ${fieldOf(access)}${caFile ? ` (${caFile})` : ''}`,
    hint: 'the cluster may have been set up anew: get its kubeconfig again, or choose another context or cluster',
  }
}

/** True if a connection failed because of the server's certificate. */
export function isDistrust(error: unknown): boolean {
  return error instanceof Error && CODES_OF_DISTRUST.has(String((error as NodeJS.ErrnoException).code))
}

function fieldOf({ cluster, files }: Access): string {
  const field = cluster['certificate-authority-data'] ? 'certificate-authority-data' : 'certificate-authority'
  return `${field} of cluster ${cluster.name} in ${files.length === 0 ? 'the service account' : files.join(', ')}`
}

function authorityOf(cluster: ClusterAccess['cluster']) {
  return { caFile: cluster['certificate-authority'], caData: cluster['certificate-authority-data'] }
}
