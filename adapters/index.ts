/** `sluice/adapter`: what an adapter is, and how a small one is made. */
export { formatAddress, parseAddress } from './address.ts'
export * from './contract.ts'
export {
  type AdapterCode,
  type ChangeCall,
  type ChangeResults,
  defineAdapter,
  type DefinedCapabilities,
  type Entry,
  type Former,
  isUnsent,
  type ListCall,
  type LoadBalancerCalls,
  resultKey,
} from './define-adapter.ts'
