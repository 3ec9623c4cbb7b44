/// How a caller says that it no longer wants what it asked for.
public struct Cancellation: Sendable {
  /// Asked again and again while work goes on, from whatever thread does it; must be quick.
  public var isCancelled: @Sendable () -> Bool

  public init(_ isCancelled: @escaping @Sendable () -> Bool) { self.isCancelled = isCancelled }

  /// Work that nobody will cancel.
  public static let never = Cancellation { false }

  /// - Throws: `.cancelled` once the caller has given up.
  public func check() throws(ObjectStoreError) {
    if isCancelled() { throw ObjectStoreError(.cancelled, "cancelled by the caller") }
  }
}
