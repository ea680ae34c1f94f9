import { KINDS } from '../api-server/kinds.ts'
import { apiVersions, pathOf } from './discovery.ts'

/*
 * Without a document, `kubectl apply` refuses to send objects that it cannot validate. The document here only says that the server
 * validates. kubectl then leaves validation to the server, and takes the schemas of these kinds from its own code. The embedded server
 * stores unknown fields, where a real one refuses them.
 */

/** Returns the documents of the group versions, by path. */
export function openApiPages(): [string, unknown][] {
  const documents = apiVersions.map((apiVersion) => [pathOf(apiVersion).slice(1), documentOf(apiVersion)] as const)
  const index = documents.map(([path]) => [path, { serverRelativeURL: `/openapi/v3/${path}` }])
  return [
    // For a v1 List, kubectl looks for schemas in version 2, as protobuf. It validates no object without a schema.
    ['/openapi/v2', '\n\u00032.0'],
    ['/openapi/v3', { paths: Object.fromEntries(index) }],
    ...documents.map(([path, document]): [string, unknown] => [`/openapi/v3/${path}`, document]),
  ]
}

function documentOf(apiVersion: string): unknown {
  const paths = KINDS.filter((kind) => kind.apiVersion === apiVersion).map(({ plural, kind, group, namespaced }) => {
    const patch = {
      'x-kubernetes-group-version-kind': { group, version: apiVersion.split('/').at(-1), kind },
      parameters: [{ name: 'fieldValidation', in: 'query', schema: { type: 'string' } }],
      responses: { 200: { description: 'OK' } },
    }
    return [`${pathOf(apiVersion)}${namespaced ? '/namespaces/{namespace}' : ''}/${plural}/{name}`, { patch }]
  })
  return {
    openapi: '3.0.0',
    info: { title: 'sluice: embedded cluster', version: '1' },
    paths: Object.fromEntries(paths),
    components: { schemas: {} },
  }
}
