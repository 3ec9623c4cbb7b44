import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelStorage

/// The content of a list, a set or scores, and how it is read, sent and merged.
protocol StateSyncContent: Sendable {
  /// Nil for a set, and for a deleted entry.
  var bounds: StateBounds? { get set }
  /// Whether it is stored sealed, and sent in an encrypted log only; unknown for a deletion.
  var isSensitive: Bool { get set }
  /// Whether there are no items, members or scores; sent as a deletion.
  var isEmpty: Bool { get }

  /// Creates empty content.
  init()

  /// Reads a document; nil for an invalid one.
  init?(document: JSONValue)

  /// Replaces times of a clock that was ahead by the time when the document was received or sent.
  mutating func setReceived(_ received: Int64)

  /// Reads the rows of a store.
  ///
  /// - Throws: `.damaged` for rows with an invalid format
  init(_ name: StateName, bounds: StateBounds?, in tables: StateTables) throws

  /// Returns the document, without `isSensitive`: the same for the same content.
  ///
  /// - Throws: `.damaged` for rows that are not JSON, `.invalid` for values with too many levels
  func document(at location: String) throws -> JSONValue

  /// Changes the rows of a store from `old` to this content.
  ///
  /// - Parameter time: of rows that are inserted or changed
  func replace(_ old: Self, _ name: StateName, time: Int64, in tables: StateTables) throws

  /// Whether both have the same items, members or scores.
  func hasSameElements(as other: Self) -> Bool

  /// Returns the elements that result from two contents which both differ from `base`. Commutative, if
  /// `newer` is exchanged as well.
  ///
  /// - Parameters:
  ///   - bounds: the resulting bounds
  ///   - newer: is set when the two have a base, and it is not known
  static func combined(
    base: Self?, _ local: Self, _ remote: Self, bounds: StateBounds?, newer: StateSyncNewer?
  ) -> Self

  /// Returns the time of the newest element of a store; 0 when there is none.
  static func newestTime(_ name: StateName, in tables: StateTables) throws -> Int64
}

/// Which of two contents without a known base is the newer one.
enum StateSyncNewer: Sendable { case local, remote, neither }

extension StateSyncContent {
  /// Sets and scores have no times.
  mutating func setReceived(_ received: Int64) {}

  /// Whether both are sent as the same entry. A deletion has no bounds.
  func isSame(as other: Self) -> Bool {
    hasSameElements(as: other) && (isEmpty || bounds == other.bounds && isSensitive == other.isSensitive)
  }

  /// Returns the content that results from the changes of two devices.
  static func merged(
    base: Self?, local: Self, remote: Self, newer: StateSyncNewer? = nil
  ) -> Self {
    let bounds = StateBounds.merged(base: base?.bounds, local: local.bounds, remote: remote.bounds)
    var merged: Self
    if let base, base.isSame(as: local) {
      merged = remote
    } else if let base, base.isSame(as: remote) {
      merged = local
    } else if base == nil, local.isSame(as: remote) {
      merged = remote
    } else {
      merged = combined(base: base, local, remote, bounds: bounds, newer: newer)
      merged.bounds = bounds
    }
    // Other devices do not know the bounds of content that is sent as a deletion.
    if merged.isEmpty || merged.bounds == nil { merged.bounds = bounds }
    merged.isSensitive = isSensitive(base: base, local: local, remote: remote)
    return merged
  }

  /// Whether the resulting content is sensitive: the value of the device that changed it; true when unknown.
  private static func isSensitive(base: Self?, local: Self, remote: Self) -> Bool {
    if remote.isEmpty || local.isSensitive == remote.isSensitive { return local.isSensitive }
    if local.isEmpty, !local.isSensitive { return remote.isSensitive }
    guard let base, !base.isEmpty else { return true }
    return !base.isSensitive
  }
}
