"""The peers: what an app would use instead of Satchel, each as its own documentation recommends."""
