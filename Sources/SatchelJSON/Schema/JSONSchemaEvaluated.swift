/// Which elements and members of one value schemas have looked at: what "unevaluatedItems" and
/// "unevaluatedProperties" leave out.
final class JSONSchemaEvaluated {
  private(set) var allItems = false
  private(set) var allMembers = false
  private var prefix = 0
  private var items: Set<Int> = []
  private var members: Set<JSONKey> = []

  func addItems(upTo count: Int) { prefix = max(prefix, count) }

  func addAllItems() { allItems = true }

  func addItem(_ index: Int) { items.insert(index) }

  func addAllMembers() { allMembers = true }

  func addMember(_ key: String) { members.insert(JSONKey(text: key)) }

  func hasItem(_ index: Int) -> Bool { allItems || index < prefix || items.contains(index) }

  func hasMember(_ key: String) -> Bool { allMembers || members.contains(JSONKey(text: key)) }

  func add(_ other: JSONSchemaEvaluated) {
    allItems = allItems || other.allItems
    allMembers = allMembers || other.allMembers
    prefix = max(prefix, other.prefix)
    items.formUnion(other.items)
    members.formUnion(other.members)
  }
}
