import { z } from 'zod'
import { duration } from '../option-fields.ts'

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

const objectName = (kind: string) =>
  z.string().regex(LABEL, {
    error: ({ input }) =>
      `${JSON.stringify(input)} is no name of a ${kind}\nwrite up to 63 lower-case letters, digits and hyphens, as kubectl shows it`,
  })

export const endpointsliceOptions = z
  .strictObject({
    namespace: objectName('namespace').describe('The namespace of the Service.'),
    service: objectName('Service').describe('The name of the Service, which has no selector.'),
    kubeconfig: z
      .string()
      .min(1, 'is empty\nremove it, or name the file')
      .describe(
        'The kubeconfig of the cluster that has the Service. A relative path is meant from the folder of the config file.',
      )
      .optional(),
    context: z
      .string()
      .min(1, 'is empty\nremove it, or name a context')
      .describe(
        'A context of the kubeconfig. Without kubeconfig, of the files of KUBECONFIG or ~/.kube/config. Default: its current one.',
      )
      .optional(),
    inCluster: z
      .literal(true, 'is only ever true\nremove it, and name kubeconfig or context')
      .describe('The Service is in the cluster of the pod that sluice runs in: its service account is used.')
      .optional(),
    settle: duration
      .describe(
        'How long after a drain until every kube-proxy has taken it, and connections under way have ended: neither can be asked. Default 10s.',
      )
      .optional(),
  })
  .refine(({ kubeconfig, context, inCluster }) => [kubeconfig, context, inCluster].some((one) => one !== undefined), {
    path: ['kubeconfig'],
    message: 'is missing: the cluster of the Service is never guessed\nname kubeconfig, context, or inCluster: true',
  })
  .refine(({ kubeconfig, context, inCluster }) => inCluster === undefined || (kubeconfig ?? context) === undefined, {
    path: ['inCluster'],
    message: 'goes without kubeconfig and context\nremove it, or the two',
  })

export type EndpointsliceOptions = z.infer<typeof endpointsliceOptions>
