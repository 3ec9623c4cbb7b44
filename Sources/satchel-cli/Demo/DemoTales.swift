import Satchel

/// The demo's stories: one that is sound, and a draft with two warnings.
struct DemoTales {
  private let folder: String

  init(in folder: DemoFolder) throws { self.folder = try folder.folder("tales") }

  func write() throws {
    var soup = try Twee.story(Array(Self.soup.utf8), id: "stone-soup").objectValue ?? JSONObject()
    for (key, value) in Self.about { soup[key] = value }
    let written: [(name: String, text: String)] = [
      ("stone-soup.json", try JSONValue.object(soup).pretty() + "\n"), ("the-ferry.twee", Self.ferry),
    ]
    for (name, text) in written {
      let output = try Output("\(folder)/\(name)")
      try output.put(text)
      try output.finish()
    }
  }

  /// The fields that Twee cannot represent.
  private static let about: JSONObject = [
    "author": "The Satchel authors", "culturalOrigin": "European", "ageRange": "5-8",
    "estimatedReadingMinutes": 1, "tags": ["folk tale", "sharing"],
    "synopsis": "A hungry traveller boils a stone, and a village that has nothing finds that it has a feast.",
  ]

  private static let soup = """
    :: StoryTitle
    Stone Soup

    :: StoryData
    {"ifid": "5A1E5C0D-9B7F-4826-8A1E-5C0D9B7F4826", "start": "The village"}

    :: The village
    A traveller came to a village at dusk, with an empty pot and an empty stomach. Every door was shut. \
    "We have nothing," said the people behind the doors.
    [[Ask at one more door->The last door]]
    [[Make a fire in the square->The pot]]

    :: The last door
    An old woman looked at him for a long time. "There is water in the well," she said, and lent him a spoon.
    [[Make a fire in the square->The pot]]
    [[Walk on into the night->The road]]

    :: The pot
    He filled the pot with water, took a smooth grey stone out of his pocket, and dropped it in. \
    "Stone soup," he told a boy who stopped to look. "Wonderful. It only lacks a carrot."
    [[Ask the boy for a carrot->The carrot]]
    [[Taste it, and sigh happily->The crowd]]

    :: The carrot
    The boy ran home and came back with a carrot, and with his sister, who had found an onion.
    [[Stir, and let them smell it->The crowd]]

    :: The crowd
    Doors opened. Somebody had a cabbage that was going soft, somebody a bone, somebody salt. Soon the whole \
    village stood around the pot.
    [[Share it out->The feast]]
    [[Sell them the stone->The bargain]]

    :: The feast
    They carried tables into the square and ate until the moon was high. In the morning he left the stone with \
    the boy. "You know now what it is good for," he said.

    :: The bargain
    The mayor paid three silver coins for it. They boiled it the next day, each waiting for another to bring \
    something, and it tasted of stone.

    :: The road
    He slept under a hedge, hungry, with his stone for a pillow, and the village never learned what it had.

    """

  private static let ferry = """
    :: StoryTitle
    The Ferry

    :: StoryData
    {"ifid": "C3D90F1E-2A3B-4C5D-8E6F-7A8B9C0D1E2F", "start": "The quay"}

    :: The quay
    The last ferry lies at the quay, and its bell has rung once.
    [[Run for it->On board]]
    [[Wait for the second bell->The quay]]
    [[Buy a ticket->The office]]

    :: The office
    The clerk counts your coins, twice.
    [[Run for it->On board]]
    [[Run for it->Ashore]]

    :: On board
    The gap of black water widens behind you. You are going home.

    :: Ashore
    The lights of the ferry grow small. There will be another one in the morning.

    """
}
