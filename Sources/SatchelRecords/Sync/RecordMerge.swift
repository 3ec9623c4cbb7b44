import SatchelJSON

/// Two versions of a document that were made from the same one, put together field by field. A value: the outcome does
/// not depend on who does it, nor on which side is whose.
///
/// Objects are merged deeply, arrays and everything else as a whole. A field that only one side has changed is as that
/// side has it; where both have changed it, the newer side counts.
struct RecordMerge: Sendable, Equatable {
  let value: JSONObject
  /// Whether a change of the older side gave way.
  private(set) var isOverridden = false

  /// - Parameter base: what both were made from; empty when that is not known
  init(base: JSONObject, older: JSONObject, newer: JSONObject) {
    var isOverridden = false
    value = RecordMerge.merge(base, older, newer, &isOverridden)
    self.isOverridden = isOverridden
  }

  private static func merge(
    _ base: JSONObject, _ older: JSONObject, _ newer: JSONObject, _ isOverridden: inout Bool
  ) -> JSONObject {
    var merged = JSONObject()
    // The newer side's order, and then what only the other one has.
    for (key, value) in newer {
      merged[key] = settle(base[key], older[key], value, &isOverridden)
    }
    for (key, value) in older where newer[key] == nil {
      merged[key] = settle(base[key], value, nil, &isOverridden)
    }
    return merged
  }

  /// A field; nil when it is to be gone.
  private static func settle(
    _ base: JSONValue?, _ older: JSONValue?, _ newer: JSONValue?, _ isOverridden: inout Bool
  ) -> JSONValue? {
    if older == newer || older == base { return newer }
    if newer == base { return older }
    if case .object(let older)? = older, case .object(let newer)? = newer {
      return .object(merge(base?.objectValue ?? JSONObject(), older, newer, &isOverridden))
    }
    isOverridden = true
    return newer
  }
}
