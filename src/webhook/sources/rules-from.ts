import { resolve } from 'node:path'

/** The place that the rules of the webhook come from. */
export type RulesFrom =
  | { readonly is: 'file'; readonly path: string }
  | { readonly is: 'config-map'; readonly namespace: string; readonly name: string; readonly key: string }
  | { readonly is: 'url'; readonly url: string }

/** The settings of a source are wrong. */
export class RulesFromError extends Error {
  override readonly name = 'RulesFromError'
  readonly component = 'webhook'
}

const CONFIG_MAP = 'configmap:'
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const OBJECT_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/
const KEY = /^[-._a-zA-Z0-9]{1,253}$/
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i

/**
 * Parses a file name, `configmap:NAMESPACE/NAME/KEY`, or the URL of a document.
 * @throws RulesFromError
 */
export function parseRulesFrom(text: string): RulesFrom {
  if (text === '')
    throw new RulesFromError('The place of the rules is empty: write a file, configmap:NAMESPACE/NAME/KEY, or a URL')
  if (text.startsWith(CONFIG_MAP)) return parseConfigMap(text)
  if (SCHEME.test(text)) return parseUrl(text)
  return { is: 'file', path: text }
}

function parseConfigMap(text: string): RulesFrom {
  const parts = text.slice(CONFIG_MAP.length).split('/')
  const [namespace = '', name = '', key = ''] = parts
  if (parts.length !== 3 || !NAMESPACE.test(namespace) || !OBJECT_NAME.test(name) || !KEY.test(key))
    throw new RulesFromError(`${text} names no key of a ConfigMap: write configmap:NAMESPACE/NAME/KEY`)
  return { is: 'config-map', namespace, name, key }
}

function parseUrl(text: string): RulesFrom {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new RulesFromError(`The place of the rules is no http or https URL; a file is named by its path`)
  // The message does not repeat the URL, because it may contain a password.
  if (url.username !== '' || url.password !== '')
    throw new RulesFromError('The URL of the rules holds a user or a password: write them into the file of --rules-basic')
  if (url.hash !== '') throw new RulesFromError('The URL of the rules has a fragment, which no server sees')
  return { is: 'url', url: text }
}

/** A text that differs for each two places with different documents. It may hold a secret of a URL. */
export function identityOf(from: RulesFrom, field: string | undefined): string {
  const place = from.is === 'file' ? { ...from, path: resolve(from.path) } : from
  return JSON.stringify({ ...place, field })
}

/** The name of the place in messages. A query of a URL is left out, since it may hold a secret. */
export function nameOf(from: RulesFrom): string {
  switch (from.is) {
    case 'file':
      return from.path
    case 'config-map':
      return `${CONFIG_MAP}${from.namespace}/${from.name}/${from.key}`
    case 'url':
      return from.url.split('?', 1)[0]!
  }
}
