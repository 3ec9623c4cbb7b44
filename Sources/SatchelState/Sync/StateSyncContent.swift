import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelSync

/// The content of a list, a set or scores, and how it is sent and merged.
protocol StateSyncContent: Sendable {
  static var kind: Change.StateKey.Kind { get }
  /// Nil for a set, and for a deleted entry.
  var bounds: StateBounds? { get set }
  /// Whether it is stored sealed, and sent in an encrypted log only; unknown for a deletion.
  var isSensitive: Bool { get set }
  var content: StateContent { get }

  /// Creates empty content.
  init()

  /// Nil for content of another kind.
  init?(_ content: StateContent)

  /// Replaces times of a clock that was ahead by the time when the document was received or sent.
  mutating func setReceived(_ received: Int64)

  /// Returns the member of the document with the content: the same for the same content.
  ///
  /// - Throws: `.damaged` for content that is not JSON
  func member(at location: String) throws -> JSONValue

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
}

/// Which of two contents without a known base is the newer one.
enum StateSyncNewer: Sendable { case local, remote, neither }

extension StateSyncContent {
  /// Whether there are no items, members or scores; sent as a deletion.
  var isEmpty: Bool { content.isEmpty }

  /// Reads a document; nil for an invalid one.
  init?(document: JSONValue) {
    guard let json = document[StateContent.member(Self.kind)], let content = StateContent(Self.kind, json)
    else { return nil }
    self.init(content)
    guard Self.kind != .set else { return }
    guard let bounds = StateBounds(document, of: Self.kind) else { return nil }
    self.bounds = bounds
  }

  /// Returns the document, without `isSensitive`.
  ///
  /// - Throws: `.damaged` for content that is not JSON
  func document(at location: String) throws -> JSONValue {
    var object: JSONObject = [StateContent.member(Self.kind): try member(at: location)]
    bounds?.write(into: &object)
    return .object(object)
  }

  func member(at location: String) throws -> JSONValue { try content.json(at: location) ?? .null }

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
