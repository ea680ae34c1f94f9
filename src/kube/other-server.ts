import type { Clock } from '../ports/clock.ts'
import { answerError } from './answer-error.ts'
import type { Credentials } from './credential.ts'
import { exchange } from './exchange.ts'
import { createPooledTransport } from './pooled-transport.ts'

/** The certificates by which a server is trusted. */
export interface OtherTrust {
  /** The CA in PEM. Default: that of the kubeconfig. */
  ca?: string
  /** Accepts any server certificate. */
  isInsecure?: boolean
}

/** Another server of the cluster's control plane, which accepts the credentials of the API server. */
export interface OtherServer {
  /** The text of the answer. Rejects with a KubeError. */
  read(): Promise<string>
  close(): Promise<void>
}

export interface OtherServerOptions {
  url: string
  trust: OtherTrust
  credentials: Credentials
  clock: Clock
  userAgent: string
}

const DEADLINE_MS = 10_000

export function createOtherServer({ url, trust, credentials, clock, userAgent }: OtherServerOptions): OtherServer {
  const { host, origin, pathname, search } = new URL(url)
  const own: Credentials = {
    ...credentials,
    async current() {
      const credential = await credentials.current()
      const { ca = credential.tls.ca } = trust
      // The server name of the kubeconfig is that of the API server.
      const { servername: _name, ...tls } = credential.tls
      const isChecked = trust.isInsecure !== true && (trust.ca !== undefined || tls.rejectUnauthorized)
      return { ...credential, tls: { ...tls, ca, rejectUnauthorized: isChecked } }
    },
    // The credentials belong to the connection of the API server, and are closed with it.
    close() {},
  }
  const transport = createPooledTransport({
    server: origin,
    credentials: own,
    trust: { distrust: `the certificate of ${host} is signed by no authority that is given`, hint: 'give the one that signs it' },
  })
  return {
    async read() {
      const headers = { accept: 'text/plain', 'user-agent': userAgent }
      const request = { method: 'GET' as const, path: `${pathname}${search}`, headers }
      const answer = await exchange(request, { clock, deadlineMs: DEADLINE_MS }, (sent) => transport.send(sent))
      if (answer.status !== 200) throw answerError(request, answer)
      return answer.text
    },
    close: () => transport.close(),
  }
}
