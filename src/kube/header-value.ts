/** A header holds no line break, nor another control character: nothing would be sent. */
export function fitsHeader(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return !/[\x00-\x1f\x7f]/.test(text)
}
