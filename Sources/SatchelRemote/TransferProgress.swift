/// How far something has come that moves bodies of objects.
package protocol TransferProgress: Sendable {
  /// Bytes of bodies so far, repeated ones included.
  var bytesUp: Int64 { get set }
  var bytesDown: Int64 { get set }
}
