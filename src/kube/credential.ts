/** The TLS part of a credential, which authenticates both ends. PEM or DER. */
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
  /** The headers Authorization and Impersonate-*. Several values give several header lines. */
  headers: Record<string, string | string[]>
}

export interface Credentials {
  /** The credential for the next request. Rejects with a KubeConfigError. */
  current(): Promise<Credential>
  /** Reports that the server has answered with a status other than 401. */
  accepted(credential: Credential): void
  /** Reports a 401. Returns true if `current()` may now return another credential. */
  refused(credential: Credential): boolean
  /** Ends a plugin that is still running. */
  close(): void
}
