import SatchelJSON
import SatchelStorage

/// A bounded list, the newest item first: search history, recent places, interactions.
public struct StateList: Sendable {
  /// An item and when it was pushed, in Unix milliseconds.
  public struct Item: Equatable, Sendable {
    public var value: JSONValue
    public var time: Int64
  }

  let state: StateStore
  let name: StateName
  let bounds: StateListBounds

  private var target: StateTarget { .list(name) }
  private var place: String { target.changeKey }

  /// Puts a value in front, and drops what is beyond the bounds.
  ///
  /// - Throws: `SatchelError` `.invalid` for what has no form in JSON or is larger than 16 MB, `.readOnly`,
  ///   `.closed`
  public func push(_ value: JSONValue) throws {
    let bytes = try StateStore.bytes(of: value, at: place)
    let identity = try naming(place) { try ValueIdentity(value) }
    try state.add(target, .push(bytes, identity: identity, bounds))
  }

  /// The items within the bounds, the newest first.
  public func items() throws -> [Item] {
    try state.checkOpen()
    let changes = state.saver.operations(of: target)
    let items = try state.read(changes) { reader, unsaved in
      // Without changes on top, no more than what is asked for need be read.
      let limit = unsaved.isEmpty ? bounds.limit ?? Int.max : Int.max
      var content = StateListContent(items: try reader?.tables.items(name, limit: limit) ?? [])
      for operation in unsaved { content.apply(operation) }
      let items = content.within(bounds, at: reader?.now ?? state.database.clock.now())
      // A clock that is set back later must not bring an item back that was told to be gone.
      if items.count < min(content.items.count, bounds.limit ?? Int.max) { state.database.noteExpiry() }
      return items
    }
    return try items.map { Item(value: try StateStore.value(of: $0.value, at: place), time: $0.time) }
  }

  /// Removes the items that equal a value.
  public func remove(_ value: JSONValue) throws {
    try state.add(target, .drop(try naming(place) { try ValueIdentity(value) }))
  }

  /// Removes all items.
  public func clear() throws { try state.add(target, .remove) }
}
