import { fitsHeader } from './header-value.ts'
import { KubeConfigError } from './kubeconfig-error.ts'

export interface Impersonation {
  user?: string | undefined
  groups?: string[] | undefined
  uid?: string | undefined
  extra?: Record<string, string[]> | undefined
}

/** The Impersonate-* headers; empty without impersonation. */
export function impersonationHeaders({ user, groups, uid, extra }: Impersonation): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {}
  if (groups !== undefined && groups.length > 0) headers['Impersonate-Group'] = groups.map(headerValue)
  if (uid !== undefined && uid !== '') headers['Impersonate-Uid'] = headerValue(uid)
  for (const [key, values] of Object.entries(extra ?? {})) {
    // The server converts keys to lower case, and percent-decodes them.
    headers[`Impersonate-Extra-${encodeHeaderName(key.toLowerCase())}`] = values.map(headerValue)
  }
  if (user !== undefined && user !== '') return { 'Impersonate-User': headerValue(user), ...headers }
  if (Object.keys(headers).length > 0) {
    throw new KubeConfigError('groups, a uid or extra fields are impersonated without a user: add the user')
  }
  return {}
}

/** Header values are bytes; UTF-8 as in other clients. */
function headerValue(value: string): string {
  if (!fitsHeader(value)) {
    throw new KubeConfigError(
      `${JSON.stringify(value)} cannot be impersonated: it has a line break or another control character, or a blank at an end: correct the user, the groups ` +
        `or the uid that are asked for, or the user of the kubeconfig`,
    )
  }
  return Buffer.from(value, 'utf8').toString('latin1')
}

function encodeHeaderName(key: string): string {
  return encodeURIComponent(key).replace(/[()]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
