/// How a host reaches its objects: what an object store does, in terms of strings and bytes.
///
/// May be called from several threads at once. What is thrown says what became of it: an `ObjectStoreError` as it is;
/// of a `SatchelError` the code, where `.notFound` means that there is no object, `.busy` that a condition is not met
/// (or, without one, that trying again may help), `.io` that it is not known what happened and trying again may help,
/// `.damaged` that a body broke off, `.readOnly` that it is not allowed, and `.cancelled` what it says. Anything else
/// counts as `.io`.
public struct HostCalls: Sendable {
  /// Reads an object, unless its tag is still `known`.
  public var get:
    @Sendable (_ key: String, _ known: String?, _ cancellation: Cancellation) throws -> HostReading
  /// Writes an object as a whole under a condition that is tested and met atomically; returns its tag.
  public var put:
    @Sendable (
      _ key: String, _ body: [UInt8], _ condition: ObjectCondition, _ metadata: [String: String],
      _ cancellation: Cancellation
    ) throws -> String
  /// What is known of an object without reading it.
  public var head: @Sendable (_ key: String, _ cancellation: Cancellation) throws -> HostHead
  /// Removes an object; with a tag, only if it is still that one.
  public var delete: @Sendable (_ key: String, _ known: String?, _ cancellation: Cancellation) throws -> Void
  /// At most `limit` keys that begin with `prefix` and come behind `after`, in the order of their bytes.
  public var list:
    @Sendable (_ prefix: String, _ after: String?, _ limit: Int, _ cancellation: Cancellation) throws ->
      HostPage

  public init(
    get: @escaping @Sendable (String, String?, Cancellation) throws -> HostReading,
    put:
      @escaping @Sendable (String, [UInt8], ObjectCondition, [String: String], Cancellation) throws -> String,
    head: @escaping @Sendable (String, Cancellation) throws -> HostHead,
    delete: @escaping @Sendable (String, String?, Cancellation) throws -> Void,
    list: @escaping @Sendable (String, String?, Int, Cancellation) throws -> HostPage
  ) {
    self.get = get
    self.put = put
    self.head = head
    self.delete = delete
    self.list = list
  }
}
