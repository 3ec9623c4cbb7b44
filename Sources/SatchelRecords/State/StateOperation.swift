/// One change of state: what is done, not what comes of it, so that the changes of several handles and
/// processes add up.
struct StateOperation: Equatable, Sendable {
  enum Action: Equatable, Sendable {
    /// Sets a value, or adds a member that is not there yet; as JSON, or sealed.
    case set([UInt8], isSealed: Bool)
    /// Takes a value, a member or a score away, or empties a list.
    case remove
    /// Puts an item in front of a list.
    case push([UInt8], identity: ValueIdentity, StateListBounds)
    /// Takes the items that equal a value out of a list.
    case drop(ValueIdentity)
    /// Adds to a score.
    case add(Double, minimum: Double, maximum: Double)

    /// Whether what was done to the same target before does not matter any more.
    var standsAlone: Bool {
      switch self {
      case .set, .remove: true
      default: false
      }
    }
  }

  let target: StateTarget
  let action: Action
  /// Unix milliseconds.
  let time: Int64
  /// Whose it is, and how far that one's changes are in the store when this one is.
  let writer: Int64
  let mark: Int64
  /// Its place among those of this handle, from 1; less for what an earlier one left in the spill file.
  let number: Int64
}
