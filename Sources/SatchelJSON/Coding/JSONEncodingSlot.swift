/// A value in the making: what one encoder fills, and its containers share.
final class JSONEncodingSlot {
  enum Kind { case empty, scalar, array, object }

  private(set) var kind = Kind.empty
  private var scalar = JSONValue.null
  private var elements: [JSONValue] = []
  private var members = JSONObject()
  /// Nested containers and encoders of superclasses, which may be written to until the end.
  private var open: [Int: JSONEncodingSlot] = [:]

  /// How many elements there are.
  var count: Int { elements.count }

  /// Settles what kind of value it is. False: it is already another.
  func become(_ wanted: Kind) -> Bool {
    if kind == .empty { kind = wanted }
    return kind == wanted
  }

  /// Sets a scalar, or a whole value. False: there is already something.
  func set(_ value: JSONValue) -> Bool {
    guard kind == .empty else { return false }
    kind = .scalar
    scalar = value
    return true
  }

  func append(_ value: JSONValue) { elements.append(value) }

  func set(_ value: JSONValue, key: String) {
    if !open.isEmpty, let position = members.position(of: key) { open[position] = nil }
    members[key] = value
  }

  /// An element that is filled later.
  func appendSlot() -> JSONEncodingSlot {
    let slot = JSONEncodingSlot()
    open[elements.count] = slot
    elements.append(.null)
    return slot
  }

  /// A member that is filled later; the one that is being filled when the key was asked for before.
  func slot(key: String) -> JSONEncodingSlot {
    if let position = members.position(of: key), let known = open[position] { return known }
    let slot = JSONEncodingSlot()
    members[key] = .null
    if let position = members.position(of: key) { open[position] = slot }
    return slot
  }

  /// The value; nil when nothing was encoded.
  func finish() -> JSONValue? {
    for (position, slot) in open {
      // As Foundation has it: what encodes nothing is an object without members.
      let value = slot.finish() ?? .object(JSONObject())
      if kind == .array { elements[position] = value } else { members.put(value, at: position) }
    }
    open = [:]
    switch kind {
    case .empty: return nil
    case .scalar: return scalar
    case .array: return .array(elements)
    case .object: return .object(members)
    }
  }
}
