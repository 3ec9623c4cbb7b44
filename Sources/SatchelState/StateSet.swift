import SatchelCore
import SatchelJSON
import SatchelStorage

/// A set of values, for example favourites. Values are equal whatever the order of their objects' keys.
public struct StateSet: Sendable {
  let state: StateStore
  let name: StateName

  private func target(_ value: JSONValue) throws -> StateTarget {
    .member(name, try naming("state/set/\(name.text)") { try ValueIdentity(value) })
  }

  /// Adds a value.
  ///
  /// - Returns: false when the set already has it
  /// - Throws: `SatchelError` `.invalid` for a value that cannot be represented in JSON or is larger than 16
  ///   MB, `.readOnly`, `.closed`
  @discardableResult
  public func add(_ value: JSONValue) throws -> Bool {
    try locating(StateID(.set, name).details) {
      let bytes = try StateStore.bytes(of: value, at: "state/set/\(name.text)")
      let target = try target(value)
      try state.checkKey(of: target.id)
      return try state.add(target, .set(bytes, isSealed: false)) { try !state.hasMember(target) }
    }
  }

  /// Removes a value.
  ///
  /// - Returns: whether the set had it
  @discardableResult
  public func remove(_ value: JSONValue) throws -> Bool {
    let target = try target(value)
    try state.checkKey(of: target.id)
    return try state.add(target, .remove) { try state.hasMember(target) }
  }

  /// Removes all values; see `StateStore.clear(_:_:)`.
  public func clear() throws { try state.clear(StateID(.set, name)) }

  /// Whether the set has a value.
  public func contains(_ value: JSONValue) throws -> Bool {
    try state.checkOpen()
    return try state.hasMember(target(value))
  }

  /// Returns all values in a stable order: that of their JSON texts.
  public func values() throws -> [JSONValue] {
    try state.checkOpen()
    let changes = state.saver.operations { $0.kind == .member && $0.name == name }
    guard case .set(let members) = try state.content(StateID(.set, name), with: changes).content else {
      return []
    }
    let values = try members.values.map { bytes in
      let value = try StateStore.value(of: bytes, at: "state/set/\(name.text)")
      return (text: try ValueIdentity.text(of: value), value: value)
    }
    return values.sorted { $0.text.lexicographicallyPrecedes($1.text) }.map(\.value)
  }
}
