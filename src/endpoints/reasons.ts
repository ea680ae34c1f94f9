import type { EndpointReasons, PodEndpointReasons, ServiceEndpointReasons, SharedCode } from '../reasons/endpoint-reasons.ts'
import type { ReasonOf } from '../reasons/reason.ts'

export type { SharedCode }
export type EndpointReasonCode = keyof EndpointReasons
export type EndpointReasonOf<Code extends EndpointReasonCode> = ReasonOf<Code>
export type ServiceEndpointReason = ReasonOf<keyof ServiceEndpointReasons>
export type PodEndpointReason = ReasonOf<keyof PodEndpointReasons | SharedCode>
export type EndpointReason = ServiceEndpointReason | PodEndpointReason
