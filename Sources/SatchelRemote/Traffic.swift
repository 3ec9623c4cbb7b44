/// How much went to and fro.
public struct Traffic: Sendable, Equatable {
  /// Calls of the store; what it does beyond that to answer one is its own affair.
  public var requests: Int64 = 0
  /// Bytes of bodies that were written, however often.
  public var bytesUp: Int64 = 0
  /// Bytes of bodies that were read.
  public var bytesDown: Int64 = 0

  public init() {}
}
