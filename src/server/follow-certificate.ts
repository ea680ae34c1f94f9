import { type Certificate, type CertificateFiles, readCertificate } from './certificate.ts'
import type { ServerError } from './server-error.ts'

export interface FollowOptions {
  files: CertificateFiles
  current: Certificate
  everyMs: number
  renewed(certificate: Certificate): void
  /** Called once for each error in a row of equal ones. The certificate in use stays. */
  refused(error: ServerError): void
}

/**
 * Reads the files every `everyMs`. A watch of the file system would miss a file behind symbolic links, as in a mounted Secret. Returns a
 * function that ends the reads.
 */
export function followCertificate({ files, current, everyMs, renewed, refused }: FollowOptions): () => void {
  let inUse = current
  let lastRefusal: string | undefined
  let ended = false
  let timer = setTimeout(look, everyMs).unref()

  async function look(): Promise<void> {
    try {
      const found = await readCertificate(files)
      lastRefusal = undefined
      if (!ended && (found.cert !== inUse.cert || found.key !== inUse.key)) {
        renewed(found)
        inUse = found
      }
    } catch (error) {
      const refusal = error as ServerError
      if (!ended && refusal.message !== lastRefusal) refused(refusal)
      lastRefusal = refusal.message
    }
    if (!ended) timer = setTimeout(look, everyMs).unref()
  }

  return () => {
    ended = true
    clearTimeout(timer)
  }
}
