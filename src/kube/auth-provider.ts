import type { UserFields } from './kubeconfig-document.ts'

/** The replacement of each provider: the plugin, and the command that writes it into a kubeconfig. */
const INSTEAD = new Map([
  ['gcp', 'gke-gcloud-auth-plugin, which "gcloud container clusters get-credentials" sets up'],
  ['azure', 'kubelogin, which "kubelogin convert-kubeconfig" sets up'],
])

/**
 * The reason why the `auth-provider` of a user is not usable. Undefined if there is none, or for `oidc`, the only provider that is still
 * supported.
 */
export function unusableAuthProvider({ 'auth-provider': provider }: UserFields): string | undefined {
  if (provider === undefined) return undefined
  const { name } = provider
  if (name === 'oidc') return undefined
  const instead = INSTEAD.get(name ?? '')
  return (
    `auth-provider ${JSON.stringify(name ?? null)}: such providers are gone from Kubernetes clients since 1.26, but for oidc; ` +
    `name a credential plugin in exec${instead === undefined ? '' : `: ${instead}`}`
  )
}
