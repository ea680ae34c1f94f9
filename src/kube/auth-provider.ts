import type { UserFields } from './kubeconfig-document.ts'

/** What took the place of each: the plugin, and who writes it into a kubeconfig. */
const INSTEAD = new Map([
  ['gcp', 'gke-gcloud-auth-plugin, which "gcloud container clusters get-credentials" sets up'],
  ['azure', 'kubelogin, which "kubelogin convert-kubeconfig" sets up'],
])

/** Why the `auth-provider` of a user cannot be used; undefined where there is none, or it is `oidc`, the one that is left. */
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
