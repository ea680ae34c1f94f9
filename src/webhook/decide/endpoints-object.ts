import { z } from 'zod'
import type { EndpointsKind } from '../cluster/cluster-view.ts'
import { ObjectError } from './object-error.ts'

/* The fields of an EndpointSlice and of Endpoints that decisions read and change. Other fields are kept as they are. */

const texts = z.record(z.string(), z.string()).nullish()
/** An object that is about to be created may have `generateName` in place of a name. */
const Metadata = z.looseObject({
  name: z.string().optional(),
  generateName: z.string().optional(),
  namespace: z.string(),
  labels: texts,
  annotations: texts,
})
const Reference = z
  .looseObject({
    kind: z.string().nullish(),
    namespace: z.string().nullish(),
    name: z.string().nullish(),
    uid: z.string().nullish(),
  })
  .nullish()
const Port = z.looseObject({ name: z.string().nullish(), port: z.number().nullish(), protocol: z.string().nullish() })
const text = z.string().nullish()
const flag = z.boolean().nullish()

const Slice = z.looseObject({
  metadata: Metadata,
  addressType: z.string(),
  ports: z.array(Port).nullish(),
  endpoints: z
    .array(
      z.looseObject({
        addresses: z.array(z.string()),
        conditions: z.looseObject({ ready: flag, serving: flag, terminating: flag }).nullish(),
        hostname: text,
        nodeName: text,
        zone: text,
        targetRef: Reference,
      }),
    )
    .nullish(),
})

const Address = z.looseObject({ ip: z.string(), hostname: text, nodeName: text, targetRef: Reference })
const Endpoints = z.looseObject({
  metadata: Metadata,
  subsets: z
    .array(
      z.looseObject({
        addresses: z.array(Address).nullish(),
        notReadyAddresses: z.array(Address).nullish(),
        ports: z.array(Port).nullish(),
      }),
    )
    .nullish(),
})

export type SliceObject = z.infer<typeof Slice>
export type SubsetsObject = z.infer<typeof Endpoints>
export type Subset = NonNullable<SubsetsObject['subsets']>[number]
export type SubsetAddress = z.infer<typeof Address>

export type EndpointsObject =
  | { readonly kind: 'EndpointSlice'; readonly object: SliceObject }
  | { readonly kind: 'Endpoints'; readonly object: SubsetsObject }

/** The name, or its begin for an object whose name the API server makes. */
export function nameOf({ object: { metadata } }: EndpointsObject): string {
  return metadata.name ?? metadata.generateName ?? ''
}

/** The objects that have their form. An object is asked about several times while it is decided about. */
const wellFormed = new WeakMap<object, EndpointsKind>()

/** @throws ObjectError where the object is none of this kind */
export function parseEndpointsObject(kind: EndpointsKind, raw: unknown): EndpointsObject {
  const { kind: named } = (typeof raw === 'object' && raw !== null ? raw : {}) as { kind?: unknown }
  if (named !== undefined && named !== kind) throw new ObjectError('kind', `is not ${kind}`)
  if (wellFormed.get(raw as object) === kind) return { kind, object: raw } as EndpointsObject
  const parsed = (kind === 'EndpointSlice' ? Slice : Endpoints).safeParse(raw)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new ObjectError((issue?.path ?? []).join('.'), 'has not the form that the API server gives it', { cause: parsed.error })
  }
  wellFormed.set(raw as object, kind)
  return { kind, object: raw } as EndpointsObject
}
