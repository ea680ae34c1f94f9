import type { Right } from '../engine/rights.ts'

/** The rights of `sluice webhook serve`, by the place where they are granted. */
export interface WebhookRights {
  /** In each namespace of the allow-list. */
  readonly inAllowed: readonly Right[]
  /** In the namespace of the webhook itself. */
  readonly inOwn: readonly Right[]
  /** In the whole cluster. */
  readonly ofCluster: readonly Right[]
  /** For a webhook that makes its certificate itself: the rights in its own namespace, and those in the whole cluster. */
  readonly ofCertificate: { readonly inOwn: readonly Right[]; readonly ofCluster: readonly Right[] }
}

/** The objects of a webhook, by the names that deploy/webhook gives them. */
export const WEBHOOK_NAMES = {
  account: 'sluice-webhook',
  namespace: 'sluice-webhook',
  configuration: 'sluice-webhook',
  lease: 'sluice-webhook',
  rules: 'sluice-webhook-rules',
  certificate: 'sluice-webhook-certificate',
} as const

const WATCH = ['list', 'watch']

export function rightsOfWebhook(): WebhookRights {
  return {
    inAllowed: [
      { group: '', resource: 'pods', verbs: WATCH, why: 'The pods that rules look at.' },
      {
        group: '',
        resource: 'services',
        verbs: [...WATCH, 'patch'],
        why: 'The Services that rules look at. Patch, for the annotation sluice.dev/touched-at alone: on it the controllers write the endpoints again.',
      },
      {
        group: 'discovery.k8s.io',
        resource: 'endpointslices',
        verbs: [...WATCH, 'patch'],
        why: 'Endpoints as gateways and kube-proxy read them. Patch, for the annotation sluice.dev/touched-at alone, so that the rules decide again.',
      },
      {
        group: '',
        resource: 'endpoints',
        verbs: [...WATCH, 'patch'],
        why: 'Endpoints as older programs read them, for the same.',
      },
    ],
    inOwn: [
      {
        group: '',
        resource: 'configmaps',
        verbs: ['get', ...WATCH],
        names: [WEBHOOK_NAMES.rules],
        why: 'The rules, followed while the webhook runs. No right to write them.',
      },
      {
        group: 'coordination.k8s.io',
        resource: 'leases',
        verbs: ['create'],
        why: 'The replica that looks at decisions again: a Lease. A name cannot restrict create.',
      },
      {
        group: 'coordination.k8s.io',
        resource: 'leases',
        verbs: ['get', 'update'],
        names: [WEBHOOK_NAMES.lease],
        why: 'To hold the Lease.',
      },
    ],
    ofCluster: [
      {
        group: '',
        resource: 'nodes',
        verbs: WATCH,
        why: 'Nodes that are silent. Nodes are in no namespace, so this right is for the whole cluster.',
      },
    ],
    ofCertificate: {
      inOwn: [
        {
          group: '',
          resource: 'secrets',
          verbs: ['create'],
          why: 'The certificate that all replicas share. A name cannot restrict create.',
        },
        {
          group: '',
          resource: 'secrets',
          verbs: ['get', 'update'],
          names: [WEBHOOK_NAMES.certificate],
          why: 'To read the certificate, and to renew it.',
        },
      ],
      ofCluster: [
        {
          group: 'admissionregistration.k8s.io',
          resource: 'mutatingwebhookconfigurations',
          verbs: ['get', 'patch'],
          names: [WEBHOOK_NAMES.configuration],
          why: 'To tell the API server the CA of the certificate. Such a configuration is in no namespace; the name is that of this webhook alone.',
        },
      ],
    },
  }
}
