import SatchelJSON

/// A three-way merge of two versions of a document, field by field. A value: the outcome is the same on every
/// device, and does not depend on which side is local.
///
/// Objects are merged recursively, other values as a whole. A field that one side changed has the value of
/// that side; a field that both changed has the value of the newer side.
struct RecordMerge: Sendable, Equatable {
  let value: JSONObject
  /// Whether a change of the older side was overridden.
  private(set) var isOverridden = false

  /// - Parameter base: the common version; empty when unknown
  init(base: JSONObject, older: JSONObject, newer: JSONObject) {
    var isOverridden = false
    value = RecordMerge.merge(base, older, newer, &isOverridden)
    self.isOverridden = isOverridden
  }

  private static func merge(
    _ base: JSONObject, _ older: JSONObject, _ newer: JSONObject, _ isOverridden: inout Bool
  ) -> JSONObject {
    var merged = JSONObject()
    // The members in the order of the newer side, followed by those that only the other side has.
    for (key, value) in newer {
      merged[key] = field(base[key], older[key], value, &isOverridden)
    }
    for (key, value) in older where newer[key] == nil {
      merged[key] = field(base[key], value, nil, &isOverridden)
    }
    return merged
  }

  /// Returns the merged value of a field; nil to remove it.
  private static func field(
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
