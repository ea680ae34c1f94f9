import type { EndpointReasons, PodEndpointReasons, ServiceEndpointReasons } from '../reasons/endpoint-reasons.ts'
import type { ReasonOf } from '../reasons/reason.ts'

/** How a pod stands is told by the codes of `PodFacts`. */
export type SharedCode = 'terminating' | 'containers-not-ready' | 'readiness-gates-closed' | 'node-silent'

export type EndpointReasonCode = keyof EndpointReasons
export type EndpointReasonOf<Code extends EndpointReasonCode> = ReasonOf<Code>
export type ServiceEndpointReason = ReasonOf<keyof ServiceEndpointReasons>
export type PodEndpointReason = ReasonOf<keyof PodEndpointReasons | SharedCode>
export type EndpointReason = ServiceEndpointReason | PodEndpointReason
