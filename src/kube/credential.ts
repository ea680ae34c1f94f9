/** The part of a connection that proves who is at both ends. PEM or DER. */
export interface TlsIdentity {
  ca?: string | Buffer | undefined
  cert?: string | Buffer | undefined
  key?: string | Buffer | undefined
  pfx?: string | Buffer | undefined
  passphrase?: string | undefined
  servername?: string | undefined
  rejectUnauthorized: boolean
}

export interface Credential {
  tls: TlsIdentity
  /** Authorization, Impersonate-*. Several values are several header lines. */
  headers: Record<string, string | string[]>
}

export interface Credentials {
  /** What the next request goes out with. Rejects with a KubeConfigError. */
  current(): Promise<Credential>
  /** The server has answered to it with something else than 401. */
  accepted(credential: Credential): void
  /** The server has answered 401; true where `current()` may now give another one. */
  refused(credential: Credential): boolean
  /** Ends a plugin that is still running. */
  close(): void
}
